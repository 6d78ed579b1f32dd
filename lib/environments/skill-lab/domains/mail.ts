import type { Domain } from '../domain.js'

export const mail: Domain = {
  name: 'mail',
  extension: 'eml',
  neighbours: ['calendar', 'documents'],
  skills: [
    {
      name: 'mail-reply',
      decoy: 'quick-answer',
      phrasings: [
        'Answer the customer message {file}; the ticket is {n}.',
        'Reply to {file} for ticket {n}.',
        'The customer of ticket {n} wrote {file}; send an answer.',
        'Please answer {file} with the template, ticket {n}.',
      ],
      heldOutPhrasings: [
        'A customer wrote {file}. Answer it, ticket {n}.',
        'Please send a reply for ticket {n}; the message is {file}.',
      ],
    },
    {
      name: 'mail-filter',
      decoy: 'inbox-sweep',
      phrasings: [
        'Move newsletters such as {file} into folder {n}.',
        'Make a rule for newsletters like {file}: folder {n}.',
        'Newsletters like {file} should go to folder {n}.',
        'Please add a rule that puts newsletters such as {file} in {n}.',
      ],
      heldOutPhrasings: [
        'I want newsletters such as {file} to move to folder {n}.',
        'Please make the rule for {file}; newsletters go in {n}.',
      ],
    },
    {
      name: 'mail-invite',
      decoy: 'guest-mailer',
      phrasings: [
        'Invite guest list {n} with {file}.',
        'Send the invitation {file} to the guests of list {n}.',
        'Please invite the guests on list {n}; the text is {file}.',
        'The invitation {file} goes to list {n}; track who accepts.',
      ],
      heldOutPhrasings: [
        'Guests of list {n} should get the invitation {file}.',
        'Please send {file} to invite list {n} and track answers.',
      ],
    },
    {
      name: 'mail-phishing',
      decoy: 'spam-report',
      phrasings: [
        'The message {file} looks suspicious; report it under case {n}.',
        'Report the suspicious message {file} as case {n} and warn the team.',
        'Someone sent us {file} to steal passwords. The case is {n}.',
        'Please report {file} as suspicious, case {n}.',
      ],
      heldOutPhrasings: [
        'The message {file} is suspicious. Please warn the team, case {n}.',
        'Case {n}: someone sent the suspicious {file}; report it.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'mail-digest',
    decoy: 'unread-brief',
    phrasings: [
      'Write a digest {file} of unread messages of week {n}.',
      'I was away in week {n}; make the digest {file} of what I missed.',
      'Please make {file}, a digest of week {n}.',
    ],
  },
}
