import type { Domain } from '../domain.js'

export const images: Domain = {
  name: 'images',
  extension: 'png',
  neighbours: ['documents', 'maps'],
  skills: [
    {
      name: 'image-resize',
      decoy: 'photo-scale',
      phrasings: [
        'Resize the photo {file} to the width of the page.',
        'The photo {file} is too wide; resize it.',
        'Please resize {file} to the page.',
        'The photo {file} should be as wide as the page.',
      ],
      heldOutPhrasings: [
        'Make the photo {file} smaller; it is too wide.',
        'Please change the width of {file} to that of the page.',
      ],
    },
    {
      name: 'image-crop',
      decoy: 'face-cut',
      phrasings: [
        'Crop {file} to a square around the face.',
        'Make a square of {file} with the face.',
        'I need the face in {file} as a square.',
        'Please crop the photo {file} to the face.',
      ],
      heldOutPhrasings: [
        'Please make a square photo of the face in {file}.',
        'The face in {file}, cropped to a square.',
      ],
    },
    {
      name: 'image-compress',
      decoy: 'web-squeeze',
      phrasings: [
        'Compress {file} for the web.',
        'The picture {file} is too heavy for the web.',
        'Make {file} small for the web.',
        'Please compress the picture {file}; it goes on the web.',
      ],
      heldOutPhrasings: [
        'For the web, the picture {file} should be small.',
        'Please make {file} small enough for the web.',
      ],
    },
    {
      name: 'image-watermark',
      decoy: 'logo-stamp',
      phrasings: [
        'Put the watermark on {file}.',
        'The picture {file} goes to the press; add our watermark.',
        'Add a watermark to {file}.',
        'Please mark {file} for the press.',
      ],
      heldOutPhrasings: [
        'The press wants {file}; put our watermark on it.',
        'Please add our watermark to the picture {file}.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'image-rename',
    decoy: 'photo-sorter',
    phrasings: [
      'Name the photos from {file} on by date.',
      'The photos from {file} on should have the date as name.',
      'Please rename photos by date, first {file}.',
    ],
  },
}
