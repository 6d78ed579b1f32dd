import type { Domain } from '../domain.js'

export const calendar: Domain = {
  name: 'calendar',
  extension: 'ics',
  neighbours: ['mail', 'finance'],
  skills: [
    {
      name: 'meeting-schedule',
      decoy: 'slot-booker',
      phrasings: [
        'Set up a meeting for the people in {file}.',
        'Find a free slot for all in {file} and invite them.',
        'The people in {file} need to meet.',
        'Please find a slot for a meeting with {file}.',
      ],
      heldOutPhrasings: [
        'Please set up a meeting of all in {file}.',
        'A meeting is needed; the people are in {file}.',
      ],
    },
    {
      name: 'meeting-move',
      decoy: 'meeting-shift',
      phrasings: [
        'Move the meeting {file}; it clashes.',
        'The meeting {file} clashes with another. Move it and tell everyone.',
        'Please shift {file}; it clashes.',
        'The meeting {file} must move to a later day.',
      ],
      heldOutPhrasings: [
        'Please move {file} because of a clash, and tell everyone.',
        'Shift the meeting {file}; a later day is fine.',
      ],
    },
    {
      name: 'leave-request',
      decoy: 'holiday-entry',
      phrasings: [
        'Enter my holidays in {file}.',
        'I take days off; block them in {file}.',
        'Please block my holidays in {file} and name a stand-in.',
        'Ask for days off, calendar {file}.',
      ],
      heldOutPhrasings: [
        'I want holidays; the calendar is {file}.',
        'Please ask for holidays and block {file}.',
      ],
    },
    {
      name: 'calendar-share',
      decoy: 'calendar-publish',
      phrasings: [
        'Share {file} with the other team, free times only.',
        'The other team wants to see the free times in {file}.',
        'Let the team see when {file} is free.',
        'Please share the calendar {file} with another team.',
      ],
      heldOutPhrasings: [
        'Please let the team see free times of the calendar {file}.',
        'Another team should see {file}, but free times only.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'event-import',
    decoy: 'event-loader',
    phrasings: [
      'Import the events of {file} and fix the time zone.',
      'The file {file} has the events of the season; import them.',
      'Please import {file} and fix its zone.',
    ],
  },
}
