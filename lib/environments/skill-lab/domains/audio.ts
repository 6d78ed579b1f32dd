import type { Domain } from '../domain.js'

export const audio: Domain = {
  name: 'audio',
  extension: 'wav',
  neighbours: ['images', 'maps'],
  skills: [
    {
      name: 'audio-denoise',
      decoy: 'noise-gate',
      phrasings: [
        'Remove the noise from the recording {file}, by {n}.',
        'The recording {file} has background noise; reduce it by {n}.',
        'Please take noise out of {file}; level {n}.',
        'Clean the voice in {file} of background noise, by {n}.',
      ],
      heldOutPhrasings: [
        'There is background noise in {file}; remove it by {n}.',
        'Please reduce noise in the recording {file} by {n}.',
      ],
    },
    {
      name: 'audio-transcribe',
      decoy: 'speech-notes',
      phrasings: [
        'Write down what {n} speakers say in {file}.',
        'Transcribe {file}; it has {n} speakers.',
        'I need the text of the recording {file} with {n} speakers.',
        'Please write down the speech in {file}, {n} speakers.',
      ],
      heldOutPhrasings: [
        'The recording {file} with {n} speakers should be written down.',
        'Please transcribe what is said in {file} by {n} speakers.',
      ],
    },
    {
      name: 'audio-master',
      decoy: 'podcast-gain',
      phrasings: [
        'Bring the podcast {file} to loudness {n}.',
        'The new podcast {file} needs loudness {n} for release.',
        'Set the loudness of podcast {file} to {n}.',
        'Please make {file} ready for release with loudness {n}.',
      ],
      heldOutPhrasings: [
        'For release, the podcast {file} needs loudness {n}.',
        'Please set the podcast {file} to the right loudness, {n}.',
      ],
    },
    {
      name: 'audio-trim',
      decoy: 'silence-strip',
      phrasings: [
        'Cut the silence and {n} seconds of intro out of {file}.',
        'The recording {file} begins with {n} seconds of intro; cut it and the silence.',
        'Please trim {file}: silence and an intro of {n} seconds.',
        'Take the intro of {n} seconds and all silence from {file}.',
      ],
      heldOutPhrasings: [
        'The intro of {file} takes {n} seconds; cut it and all silence.',
        'Please cut an intro of {n} seconds and silence from {file}.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'audio-mix',
    decoy: 'music-bed',
    phrasings: [
      'Mix the voice {file} with music at level {n}.',
      'The voice {file} needs music under the voice, level {n}.',
      'Please put music of level {n} under {file}.',
    ],
  },
}
