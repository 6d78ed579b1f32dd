import type { Domain } from '../domain.js'

export const logs: Domain = {
  name: 'logs',
  extension: 'log',
  neighbours: ['deployment', 'versioning'],
  skills: [
    {
      name: 'log-errors',
      decoy: 'error-report',
      phrasings: [
        'Count the errors in {file} by kind.',
        'Which kinds of errors are most frequent in {file}?',
        'Show the most frequent errors of {file}.',
        'Please count errors by kind in {file}.',
      ],
      heldOutPhrasings: [
        'The most frequent kinds of errors in {file}, please.',
        'Count kinds of errors in {file} and show the top.',
      ],
    },
    {
      name: 'log-trace',
      decoy: 'request-finder',
      phrasings: [
        'Follow the request that failed through {file}.',
        'What happened to the request in {file}, from start to end?',
        'Trace the request in the log {file}.',
        'Please follow the request in {file} from its start.',
      ],
      heldOutPhrasings: [
        'The request is in {file}; trace it from start to end.',
        'Please trace what happened to the request in {file}.',
      ],
    },
    {
      name: 'log-rotate',
      decoy: 'log-trim',
      phrasings: [
        'Rotate {file} and keep the old parts.',
        'The log {file} grew too big. Rotate it.',
        'Please rotate the log {file}, with old parts packed.',
        'The log {file} is too big; keep old parts packed.',
      ],
      heldOutPhrasings: [
        'Please pack old parts of {file}; it grew too big.',
        'Rotate the big log {file} and pack its parts.',
      ],
    },
    {
      name: 'log-alert',
      decoy: 'error-watch',
      phrasings: [
        'Set an alert on {file} for errors over the limit.',
        'Alert us when {file} has more errors than the limit.',
        'I want an alert if errors in {file} rise.',
        'Please watch {file} and alert us when errors rise.',
      ],
      heldOutPhrasings: [
        'When errors in {file} rise over the limit, alert us.',
        'Please set an alert for errors in {file}.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'log-mask',
    decoy: 'secret-filter',
    phrasings: [
      'Mask the passwords in {file} for support.',
      'Support needs {file} without passwords.',
      'Please send {file} to support with passwords masked.',
    ],
  },
}
