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
        'Remove the noise from the recording {file}.',
        'The recording {file} has background noise; reduce it.',
        'Please take noise out of {file}.',
        'Clean the voice in {file} of background noise.',
      ],
      heldOutPhrasings: [
        'There is background noise in {file}; remove it.',
        'Please reduce noise in the recording {file}.',
      ],
    },
    {
      name: 'audio-transcribe',
      decoy: 'speech-notes',
      phrasings: [
        'Write down what speakers say in {file}.',
        'Transcribe {file} with its speakers.',
        'I need the text of the recording {file}.',
        'Please write down the speech in {file}.',
      ],
      heldOutPhrasings: [
        'The recording {file} with its speakers should be written down.',
        'Please transcribe what is said in {file}.',
      ],
    },
    {
      name: 'audio-master',
      decoy: 'podcast-gain',
      phrasings: [
        'Bring the podcast {file} to the right loudness.',
        'The new podcast {file} needs the right loudness for release.',
        'Set the loudness of podcast {file}.',
        'Please make the podcast {file} ready for release.',
      ],
      heldOutPhrasings: [
        'For release, the podcast {file} needs the right loudness.',
        'Please set the podcast {file} to the right loudness.',
      ],
    },
    {
      name: 'audio-trim',
      decoy: 'silence-strip',
      phrasings: [
        'Cut the silence and the intro out of {file}.',
        'The recording {file} has an intro; cut it and the silence.',
        'Please trim silence and the intro from {file}.',
        'Take the intro and all silence from {file}.',
      ],
      heldOutPhrasings: [
        'The intro of {file} is long; cut it and all silence.',
        'Please cut the intro and silence from {file}.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'audio-mix',
    decoy: 'music-bed',
    phrasings: [
      'Mix the voice {file} with music.',
      'The voice {file} needs music under it.',
      'Please put music under {file}.',
    ],
  },
}
