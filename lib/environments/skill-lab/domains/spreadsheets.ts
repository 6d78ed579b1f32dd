import type { Domain } from '../domain.js'

export const spreadsheets: Domain = {
  name: 'spreadsheets',
  extension: 'csv',
  neighbours: ['databases', 'finance'],
  skills: [
    {
      name: 'csv-dedupe',
      decoy: 'table-distinct',
      phrasings: [
        'Drop the repeated rows from {file}.',
        'Some rows of {file} are there twice. Keep the first of each.',
        'Remove repeated rows in {file}.',
        'Please keep only the first of the repeated rows in {file}.',
      ],
      heldOutPhrasings: [
        'Rows are repeated in {file}; drop them and keep the first.',
        'Please remove rows that are there twice from {file}.',
      ],
    },
    {
      name: 'csv-pivot',
      decoy: 'group-totals',
      phrasings: [
        'Make a pivot table of {file}.',
        'Sum {file} by group.',
        'I need a pivot of {file} with sums for each group.',
        'Group {file} and sum it in a pivot table.',
      ],
      heldOutPhrasings: [
        'Please sum {file} by group into a pivot table.',
        'A pivot with sums of each group in {file} is needed.',
      ],
    },
    {
      name: 'csv-clean',
      decoy: 'cell-tidy',
      phrasings: [
        'Clean the messy cells of {file}.',
        'The table {file} has messy cells and blanks; fix them.',
        'Trim the cells in {file} and fill the blanks.',
        'Please fix the blanks in {file} and trim spaces.',
      ],
      heldOutPhrasings: [
        'Fix messy cells in {file} by trimming spaces, and fill blanks.',
        'Please clean {file}; its cells are messy.',
      ],
    },
    {
      name: 'csv-lookup',
      decoy: 'price-match',
      phrasings: [
        'Join {file} with the price list.',
        'Add the price of each row to {file}.',
        'Look up the price of each row in {file}.',
        'Please join the price list to {file}.',
      ],
      heldOutPhrasings: [
        'The rows of {file} need a price from the list.',
        'Look up prices for {file} in the price list and join them.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'csv-split',
    decoy: 'table-chunks',
    phrasings: [
      'Cut {file} into parts of the same number of rows.',
      'The table {file} is too large; please make parts.',
      'Split the table {file} into parts.',
    ],
  },
}
