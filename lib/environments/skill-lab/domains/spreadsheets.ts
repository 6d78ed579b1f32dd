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
        'Drop the repeated rows from {file}; compare {n} columns.',
        'Some rows of {file} are there twice. Keep the first of each, comparing {n} columns.',
        'Remove repeated rows in {file} and match on {n} columns.',
        'Please keep only the first of the repeated rows in {file}, looking at {n} columns.',
      ],
      heldOutPhrasings: [
        'Rows are repeated in {file}. Compare {n} columns and drop the second ones.',
        'Please remove rows that are there twice from {file}, matching {n} columns.',
      ],
    },
    {
      name: 'csv-pivot',
      decoy: 'group-totals',
      phrasings: [
        'Make a pivot table of {file}, grouped by column {n}.',
        'Sum {file} by group; the group is in column {n}.',
        'I need a pivot of {file} with sums for each group in column {n}.',
        'Group {file} by column {n} and sum it in a pivot table.',
      ],
      heldOutPhrasings: [
        'Please sum {file} into a pivot table; column {n} has the group.',
        'A pivot with sums of {file} is needed, by group in column {n}.',
      ],
    },
    {
      name: 'csv-clean',
      decoy: 'cell-tidy',
      phrasings: [
        'Clean the messy cells of {file} and fill blanks with {n}.',
        'The table {file} has messy cells and blanks; trim them and put {n} in the blanks.',
        'Trim the cells in {file} and fill each blank with {n}.',
        'Please fix the blanks in {file} with {n} and trim spaces.',
      ],
      heldOutPhrasings: [
        'Fix messy cells in {file}: trim spaces, and {n} for blanks.',
        'Please clean {file}, with {n} in blank cells.',
      ],
    },
    {
      name: 'csv-lookup',
      decoy: 'price-match',
      phrasings: [
        'Join {file} with the price list on column {n}.',
        'Add prices to {file}; the key is column {n}.',
        'Look up the price of each row in {file} by key column {n}.',
        'Please join the price list to {file}, key column {n}.',
      ],
      heldOutPhrasings: [
        'The rows of {file} need prices from the list; key column {n}.',
        'Look up prices for {file} and join on column {n}.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'csv-split',
    decoy: 'table-chunks',
    phrasings: [
      'Cut {file} into parts of {n} rows each.',
      'The table {file} is too large; please make parts with {n} rows.',
      'Split the table {file} into parts, {n} rows in each.',
    ],
  },
}
