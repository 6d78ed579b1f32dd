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
        'Plan a route through the stops in {file}.',
        'Find a route for {file} without tolls.',
        'The stops are in {file}; plan a route.',
        'Please plan the route {file} with no tolls.',
      ],
      heldOutPhrasings: [
        'Please plan a route through {file} that avoids tolls.',
        'A route without tolls for the stops in {file}.',
      ],
    },
    {
      name: 'track-clean',
      decoy: 'gps-smooth',
      phrasings: [
        'Clean the track {file} of jumps.',
        'The GPS track {file} has jumps. Clean and smooth it.',
        'Remove jumps from the track {file}.',
        'Please smooth the GPS track {file}.',
      ],
      heldOutPhrasings: [
        'Please clean {file} of jumps and smooth it.',
        'The track {file} should be smooth, with no jumps.',
      ],
    },
    {
      name: 'map-tiles',
      decoy: 'tile-cache',
      phrasings: [
        'Pack tiles of the region {file}.',
        'I go to {file} without network; I need map tiles.',
        'Get the map tiles for {file} for use without network.',
        'Please pack the map of region {file}.',
      ],
      heldOutPhrasings: [
        'I need the map tiles of {file} without network.',
        'Please get tiles of region {file}.',
      ],
    },
    {
      name: 'map-heatmap',
      decoy: 'visitor-plot',
      phrasings: [
        'Draw a heat map of the visits in {file}.',
        'Where did visitors in {file} come from? Draw a heat map.',
        'Make a heat map from {file}.',
        'Please draw visits of {file} as heat.',
      ],
      heldOutPhrasings: [
        'Please make a heat map of where visitors in {file} come from.',
        'The visits are in {file}; draw a heat map.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'map-elevation',
    decoy: 'climb-chart',
    phrasings: [
      'Draw the height profile of the hike {file}.',
      'How much climb has the hike {file}?',
      'Please draw the climb of the hike {file}.',
    ],
  },
}
