import type { Domain } from '../domain.js'

export const versioning: Domain = {
  name: 'versioning',
  extension: 'patch',
  neighbours: ['deployment', 'databases'],
  skills: [
    {
      name: 'git-bisect',
      decoy: 'blame-search',
      phrasings: [
        'Find the commit that broke {file}; it passed {n} commits ago.',
        'The test {file} was fine {n} commits ago. Which commit broke it?',
        'Bisect the history for the commit that broke {file}, good {n} commits ago.',
        'Please find which of {n} commits broke {file}.',
      ],
      heldOutPhrasings: [
        'Which commit broke {file}? It was good {n} commits ago.',
        'Bisect {n} commits to find what broke {file}.',
      ],
    },
    {
      name: 'git-squash',
      decoy: 'commit-fold',
      phrasings: [
        'Squash the last {n} commits into one with message {file}.',
        'Before review, make one commit of the last {n}; message in {file}.',
        'The branch has {n} small commits. Squash them, with message {file}.',
        'Please squash {n} commits for review using {file}.',
      ],
      heldOutPhrasings: [
        'For review, squash {n} small commits into one; message {file}.',
        'The message is {file}; squash the last {n} commits of the branch.',
      ],
    },
    {
      name: 'git-backport',
      decoy: 'patch-release',
      phrasings: [
        'Carry the fix {file} over to release {n}.',
        'Release {n} needs the fix {file} too.',
        'Backport {file} to the release branch {n}.',
        'Please bring fix {file} to the older release {n}.',
      ],
      heldOutPhrasings: [
        'The older release {n} should have the fix {file}.',
        'Please backport the fix {file} to {n}.',
      ],
    },
    {
      name: 'git-undo',
      decoy: 'merge-rollback',
      phrasings: [
        'Undo merge {n} on main and note the reason in {file}.',
        'Merge {n} was bad. Undo it on main, reason in {file}.',
        'Please undo the bad merge {n}; the reason is in {file}.',
        'Take merge {n} off main but keep later work; note {file}.',
      ],
      heldOutPhrasings: [
        'The merge {n} on main is bad; undo it and note {file}.',
        'Please take the bad merge {n} off main, reason {file}.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'git-ignore',
    decoy: 'history-shrink',
    phrasings: [
      'Stop tracking {file}; files over {n} must leave the history.',
      'The file {file} is too large, the limit is {n}. Clear it from history.',
      'Please clear the large {file} from git history, size limit {n}.',
    ],
  },
}
