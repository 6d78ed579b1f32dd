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
        'Find the commit that broke the test of {file}.',
        'The test of {file} was fine. Which commit broke it?',
        'Bisect the history for the commit that broke {file}.',
        'Please find which commit broke {file}.',
      ],
      heldOutPhrasings: [
        'Which commit broke {file}? Please bisect.',
        'Bisect the history to find what broke the test of {file}.',
      ],
    },
    {
      name: 'git-squash',
      decoy: 'commit-fold',
      phrasings: [
        'Squash the commits of {file} into one.',
        'Before review, make one commit of {file}.',
        'The branch {file} has small commits. Squash them.',
        'Please squash {file} for review.',
      ],
      heldOutPhrasings: [
        'For review, squash the small commits of {file} into one.',
        'Please make one commit of the small ones in {file}.',
      ],
    },
    {
      name: 'git-backport',
      decoy: 'patch-release',
      phrasings: [
        'Carry the fix {file} over to the older release.',
        'The older release needs the fix {file} too.',
        'Backport {file} to the release branch.',
        'Please bring fix {file} to the release branch.',
      ],
      heldOutPhrasings: [
        'The older release branch should have the fix {file}.',
        'Please backport the fix {file}.',
      ],
    },
    {
      name: 'git-undo',
      decoy: 'merge-rollback',
      phrasings: [
        'Undo the merge {file} on main.',
        'The merge {file} was bad. Undo it on main.',
        'Please undo the bad merge {file}.',
        'Take the merge {file} off main but keep later work.',
      ],
      heldOutPhrasings: [
        'The merge {file} on main is bad; undo it.',
        'Please take the bad merge {file} off main.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'git-ignore',
    decoy: 'history-shrink',
    phrasings: [
      'Stop tracking {file}; it is too large for history.',
      'The file {file} is too large. Clear it from history.',
      'Please clear the large {file} from git history.',
    ],
  },
}
