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
        'Count the errors in {file} and show the top {n} kinds.',
        'Which {n} kinds of errors are most frequent in {file}?',
        'Show the {n} most frequent errors of {file}.',
        'Please count errors by kind in {file}, top {n}.',
      ],
      heldOutPhrasings: [
        'The top {n} kinds of errors in {file}, please.',
        'Count kinds of errors in {file} and show {n} of them.',
      ],
    },
    {
      name: 'log-trace',
      decoy: 'request-finder',
      phrasings: [
        'Follow request {n} through {file}.',
        'What happened to request {n} in {file}, from start to end?',
        'Trace request {n} in the log {file}.',
        'Please follow the request {n} in {file} from its start.',
      ],
      heldOutPhrasings: [
        'Request {n} is in {file}; trace it from start to end.',
        'Please trace what happened to {n} in the log {file}.',
      ],
    },
    {
      name: 'log-rotate',
      decoy: 'log-trim',
      phrasings: [
        'Rotate {file} and keep {n} old parts.',
        'The log {file} grew too big. Rotate it and keep {n} parts.',
        'Please rotate the log {file}, with {n} parts kept.',
        'The log {file} is too big; keep {n} old parts packed.',
      ],
      heldOutPhrasings: [
        'Please pack old parts of {file} and keep {n}; it grew too big.',
        'Rotate the big log {file}; {n} parts are enough.',
      ],
    },
    {
      name: 'log-alert',
      decoy: 'error-watch',
      phrasings: [
        'Set an alert on {file} for over {n} errors a minute.',
        'Alert us when {file} has more than {n} errors a minute.',
        'I want an alert if errors in {file} rise over {n}.',
        'Please watch {file} and alert over {n} errors.',
      ],
      heldOutPhrasings: [
        'When errors in {file} rise over {n} a minute, alert us.',
        'Please set the alert limit of {file} to {n} errors.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'log-mask',
    decoy: 'secret-filter',
    phrasings: [
      'Mask the passwords in {file} and attach it to ticket {n}.',
      'Support needs {file} for ticket {n}, without passwords.',
      'Please send {file} to support ticket {n} with passwords masked.',
    ],
  },
}
