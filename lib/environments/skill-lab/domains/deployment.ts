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
        'Roll out {file} to a few servers first, then to all.',
        'Release {file} with a canary.',
        'Please roll out {file}; begin with a few servers.',
        'Start {file} on a few servers before all get it.',
      ],
      heldOutPhrasings: [
        'Please release {file} to a few servers first.',
        'The rollout of {file} should begin with a few servers.',
      ],
    },
    {
      name: 'deploy-rollback',
      decoy: 'quick-revert',
      phrasings: [
        'Servers fail since the last release of {file}; go back.',
        'Roll back {file} to the good release.',
        'Go back to the last good release of {file}.',
        'Please roll {file} back; the servers fail.',
      ],
      heldOutPhrasings: [
        'Please go back to the good release of {file}.',
        'The servers of {file} fail. Roll back.',
      ],
    },
    {
      name: 'deploy-scale',
      decoy: 'load-helper',
      phrasings: [
        'Add servers to {file} before the load comes.',
        'Heavy load is coming for {file}; it needs more servers.',
        'Scale {file} up for heavy load.',
        'Please give {file} more servers.',
      ],
      heldOutPhrasings: [
        'Please add servers to {file} for heavy load.',
        'More servers for {file}, before the load comes.',
      ],
    },
    {
      name: 'deploy-secrets',
      decoy: 'key-swap',
      phrasings: [
        'Replace the keys of {file}.',
        'The service {file} needs new keys without a break.',
        'Please replace the old key of {file}.',
        'Rotate the keys in {file}.',
      ],
      heldOutPhrasings: [
        'New keys should replace the old keys in {file}.',
        'Please rotate the key of service {file} without a break.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'deploy-cron',
    decoy: 'job-timer',
    phrasings: [
      'Plan the job {file} to run every few hours.',
      'The job {file} should run on the server every few hours.',
      'Please let job {file} run every few hours.',
    ],
  },
}
