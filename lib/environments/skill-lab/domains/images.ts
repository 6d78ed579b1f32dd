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
        'Resize the photo {file} to width {n}.',
        'The photo {file} is too wide; make it {n} wide.',
        'Please resize {file}, new width {n}.',
        'The photo {file} should be {n} wide.',
      ],
      heldOutPhrasings: [
        'Make the photo {file} smaller, width {n}.',
        'Please change the width of {file} to {n}.',
      ],
    },
    {
      name: 'image-crop',
      decoy: 'face-cut',
      phrasings: [
        'Crop {file} to a square around the face, margin {n}.',
        'Make a square of {file} with the face and margin {n}.',
        'I need the face in {file} as a square; margin {n}.',
        'Please crop the photo {file} to the face with margin {n}.',
      ],
      heldOutPhrasings: [
        'Please make a square photo of the face in {file}, margin {n}.',
        'The face in {file} with margin {n}, cropped to a square.',
      ],
    },
    {
      name: 'image-compress',
      decoy: 'web-squeeze',
      phrasings: [
        'Compress {file} to {n} for the web.',
        'The picture {file} is too heavy for the web; get it to {n}.',
        'Make {file} small for the web, size {n}.',
        'Please compress the picture {file} to size {n}.',
      ],
      heldOutPhrasings: [
        'For the web, the picture {file} should have size {n}.',
        'Please make {file} small enough for the web: {n}.',
      ],
    },
    {
      name: 'image-watermark',
      decoy: 'logo-stamp',
      phrasings: [
        'Put the watermark on {file} with strength {n}.',
        'The picture {file} goes to the press; add our watermark, strength {n}.',
        'Add a watermark of strength {n} to {file}.',
        'Please mark {file} for the press with strength {n}.',
      ],
      heldOutPhrasings: [
        'The press wants {file}; put our watermark on it, strength {n}.',
        'Please add our watermark to the picture {file}, {n} strong.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'image-rename',
    decoy: 'photo-sorter',
    phrasings: [
      'Name the photos from {file} on by date and put them in album {n}.',
      'Album {n} should have the photos from {file}, named by date.',
      'Please rename photos by date, first {file}, album {n}.',
    ],
  },
}
