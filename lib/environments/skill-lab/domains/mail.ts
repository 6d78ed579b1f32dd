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
        'Answer the customer message {file}.',
        'Reply to {file} for the open ticket.',
        'The customer wrote {file}; send an answer.',
        'Please answer {file} with the template.',
      ],
      heldOutPhrasings: [
        'A customer wrote {file}. Answer it.',
        'Please send a reply for the ticket; the message is {file}.',
      ],
    },
    {
      name: 'mail-filter',
      decoy: 'inbox-sweep',
      phrasings: [
        'Move newsletters such as {file} into a folder.',
        'Make a rule for newsletters like {file}.',
        'Newsletters like {file} should go to a folder.',
        'Please add a rule for newsletters such as {file}.',
      ],
      heldOutPhrasings: [
        'I want newsletters such as {file} to move to a folder.',
        'Please make the rule for {file}; newsletters go in a folder.',
      ],
    },
    {
      name: 'mail-invite',
      decoy: 'guest-mailer',
      phrasings: [
        'Invite the guests with {file}.',
        'Send the invitation {file} to the guests.',
        'Please invite the guests on the list; the text is {file}.',
        'The invitation {file} goes to the list; track who accepts.',
      ],
      heldOutPhrasings: [
        'Guests of the list should get the invitation {file}.',
        'Please send {file} to invite the guests and track answers.',
      ],
    },
    {
      name: 'mail-phishing',
      decoy: 'spam-report',
      phrasings: [
        'The message {file} looks suspicious; report it.',
        'Report the suspicious message {file} and warn the team.',
        'Someone sent us {file} to steal passwords.',
        'Please report {file} as suspicious.',
      ],
      heldOutPhrasings: [
        'The message {file} is suspicious. Please warn the team.',
        'Someone sent the suspicious {file}; report it.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'mail-digest',
    decoy: 'unread-brief',
    phrasings: [
      'Write a digest {file} of the unread messages.',
      'I was away for a week; make the digest {file}.',
      'Please make {file}, a digest of what was unread.',
    ],
  },
}
