import type { Domain } from '../domain.js'

export const documents: Domain = {
  name: 'documents',
  extension: 'pdf',
  neighbours: ['images', 'mail'],
  skills: [
    {
      name: 'pdf-merge',
      decoy: 'pdf-combine',
      phrasings: [
        'Merge the chapters into {file}, with pages numbered from {n}.',
        'Make one PDF {file} of all chapters; page numbers begin at {n}.',
        'The chapters should be one document, {file}, with page numbers from {n}.',
        'Please merge all chapters to {file} and number pages from {n}.',
      ],
      heldOutPhrasings: [
        'Number the pages from {n} and merge the chapters to one document {file}.',
        'Please make {file} of the chapters, first page number {n}.',
      ],
    },
    {
      name: 'pdf-redact',
      decoy: 'hide-names',
      phrasings: [
        'Black out the names on page {n} of {file}.',
        'Before we share {file}, hide the private names on page {n}.',
        'Page {n} of {file} shows private names; black them out.',
        'Please hide names in {file}, page {n}, so it can be shared.',
      ],
      heldOutPhrasings: [
        'We share {file} today; black out private names on page {n}.',
        'Please black out what is private on page {n} of {file}.',
      ],
    },
    {
      name: 'pdf-forms',
      decoy: 'form-writer',
      phrasings: [
        'Fill in the form {file} for client {n}.',
        'Client {n} needs the form {file} filled in and locked.',
        'Please fill the fields of {file} with the data of client {n}.',
        'Complete form {file} for client {n} and lock the fields.',
      ],
      heldOutPhrasings: [
        'The fields of form {file} should be filled for client {n}, then locked.',
        'Please fill in {file}; it is for client {n}.',
      ],
    },
    {
      name: 'pdf-scan',
      decoy: 'text-reader',
      phrasings: [
        'Make the scan {file} searchable; use contrast {n}.',
        'Read the text of the scanned {file} with contrast {n}.',
        'I can not search in the scan {file}. Run OCR at contrast {n}.',
        'Please run OCR on {file} with contrast {n}.',
      ],
      heldOutPhrasings: [
        'The scanned {file} should be searchable, contrast {n}.',
        'Run OCR at contrast {n} to read the text of scan {file}.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'pdf-sign',
    decoy: 'contract-seal',
    phrasings: [
      'Sign the contract {file} with key {n}.',
      'Please put our signature from key {n} on {file}.',
      'The contract {file} needs to be signed with key {n}.',
    ],
  },
}
