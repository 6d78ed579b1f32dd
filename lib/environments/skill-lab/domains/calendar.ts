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
        'Set up a meeting of {n} minutes for the people in {file}.',
        'Find {n} free minutes for all in {file} and invite them.',
        'The people in {file} need to meet for {n} minutes.',
        'Please find a slot of {n} minutes for a meeting with {file}.',
      ],
      heldOutPhrasings: [
        'Please set up {n} minutes for a meeting of all in {file}.',
        'A meeting of {n} minutes is needed; the people are in {file}.',
      ],
    },
    {
      name: 'meeting-move',
      decoy: 'meeting-shift',
      phrasings: [
        'Move the meeting {file} by {n} days; it clashes.',
        'The meeting {file} clashes with another meeting. Move it {n} days and tell everyone.',
        'Please shift {file} by {n} days.',
        'The meeting {file} must move {n} days later.',
      ],
      heldOutPhrasings: [
        'Please move {file} by {n} days because of a clash, and tell everyone.',
        'Shift the meeting {file}; {n} days later is fine.',
      ],
    },
    {
      name: 'leave-request',
      decoy: 'holiday-entry',
      phrasings: [
        'Enter {n} days of holidays in {file}.',
        'I take {n} days off; block them in {file}.',
        'Please block {n} days of holidays in {file} and name a stand-in.',
        'Ask for {n} days off, calendar {file}.',
      ],
      heldOutPhrasings: [
        'I want {n} days of holidays; the calendar is {file}.',
        'Please ask for holidays, {n} days, and block {file}.',
      ],
    },
    {
      name: 'calendar-share',
      decoy: 'calendar-publish',
      phrasings: [
        'Share {file} with team {n}, free times only.',
        'Team {n} wants to see the free times in {file}.',
        'Let team {n} see when {file} is free.',
        'Please share the calendar {file} with team {n}.',
      ],
      heldOutPhrasings: [
        'Please let team {n} see free times of the calendar {file}.',
        'Team {n} should see {file}, but free times only.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'event-import',
    decoy: 'event-loader',
    phrasings: [
      'Import the events of {file} with a time offset of {n} hours.',
      'The file {file} has the events of the season; the zone is {n} hours off.',
      'Please import {file} and shift its zone by {n} hours.',
    ],
  },
}
