import type { Domain } from '../domain.js'

export const maps: Domain = {
  name: 'maps',
  extension: 'gpx',
  neighbours: ['images', 'audio'],
  skills: [
    {
      name: 'route-plan',
      decoy: 'trip-router',
      phrasings: [
        'Plan a route through the stops in {file}, at most {n} hours.',
        'Find a route for {file} without tolls in {n} hours.',
        'The stops are in {file}; plan a drive of {n} hours.',
        'Please plan the route {file} with no tolls, {n} hours at most.',
      ],
      heldOutPhrasings: [
        'Please plan a drive through {file} in at most {n} hours.',
        'A route without tolls for the stops in {file}, {n} hours.',
      ],
    },
    {
      name: 'track-clean',
      decoy: 'gps-smooth',
      phrasings: [
        'Clean the track {file}; nothing was faster than {n}.',
        'The GPS track {file} has jumps over {n}. Clean and smooth it.',
        'Remove jumps over speed {n} from {file}.',
        'Please smooth the GPS track {file}, top speed {n}.',
      ],
      heldOutPhrasings: [
        'Please clean {file} of jumps; top speed {n}.',
        'The track {file} should be smooth, with no jumps over {n}.',
      ],
    },
    {
      name: 'map-tiles',
      decoy: 'tile-cache',
      phrasings: [
        'Pack tiles of the region {file} down to zoom {n}.',
        'I go to {file} without network; I need tiles to zoom {n}.',
        'Get the map tiles for {file} for use without network, zoom {n}.',
        'Please pack the map of region {file} at zoom {n}.',
      ],
      heldOutPhrasings: [
        'I need the map of {file} without network, zoom {n}.',
        'Please get tiles of region {file} to zoom {n}.',
      ],
    },
    {
      name: 'map-heatmap',
      decoy: 'visitor-plot',
      phrasings: [
        'Draw a heat map of the visits in {file}, radius {n}.',
        'Where did visitors in {file} come from? Draw heat with radius {n}.',
        'Make a heat map from {file} with spots of radius {n}.',
        'Please draw visits of {file} as heat, radius {n}.',
      ],
      heldOutPhrasings: [
        'Please make a heat map of where visitors in {file} come from, radius {n}.',
        'The visits are in {file}; draw a heat map with radius {n}.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'map-elevation',
    decoy: 'climb-chart',
    phrasings: [
      'Draw the height profile of the hike {file}, step {n} metres.',
      'How much climb has the hike {file}? Use a step of {n} metres.',
      'Please draw the climb of {file} with step {n}.',
    ],
  },
}
