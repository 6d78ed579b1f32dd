import type { Domain } from '../domain.js'

export const deployment: Domain = {
  name: 'deployment',
  extension: 'yaml',
  neighbours: ['logs', 'versioning'],
  skills: [
    {
      name: 'deploy-canary',
      decoy: 'release-push',
      phrasings: [
        'Roll out {file} to {n} percent of the servers first, then to all.',
        'Release {file} with a canary on {n} percent.',
        'Please roll out {file}; begin with {n} percent of servers.',
        'Start {file} on a few servers, {n} percent, before all get it.',
      ],
      heldOutPhrasings: [
        'Please release {file} to a few servers first: {n} percent.',
        'The rollout of {file} should begin with {n} percent of servers.',
      ],
    },
    {
      name: 'deploy-rollback',
      decoy: 'quick-revert',
      phrasings: [
        'Servers fail since the last release of {file}; go back to {n}.',
        'Roll back {file} to release {n}.',
        'Go back to the good release {n} of {file}.',
        'Please roll {file} back; release {n} was good.',
      ],
      heldOutPhrasings: [
        'Please go back to {n}, the last good release of {file}.',
        'The servers of {file} fail. Roll back to {n}.',
      ],
    },
    {
      name: 'deploy-scale',
      decoy: 'load-helper',
      phrasings: [
        'Add {n} servers to {file} before the load comes.',
        'Heavy load is coming for {file}; it needs {n} more servers.',
        'Scale {file} up by {n} servers.',
        'Please give {file} another {n} servers.',
      ],
      heldOutPhrasings: [
        'Please add servers to {file} for heavy load, {n} more.',
        '{n} more servers for {file}, before the load comes.',
      ],
    },
    {
      name: 'deploy-secrets',
      decoy: 'key-swap',
      phrasings: [
        'Replace the keys of {file} with key {n}.',
        'The service {file} needs the new key {n} without a break.',
        'Please replace the old key of {file}; the new one is {n}.',
        'Rotate the keys in {file} to {n}.',
      ],
      heldOutPhrasings: [
        'The new key {n} should replace the old keys in {file}.',
        'Please rotate the key of service {file} to {n} without a break.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'deploy-cron',
    decoy: 'job-timer',
    phrasings: [
      'Plan the job {file} to run every {n} hours.',
      'The job {file} should run on the server each {n} hours.',
      'Please let job {file} run every {n} hours.',
    ],
  },
}
