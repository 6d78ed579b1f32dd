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
        'Merge the chapters into {file}.',
        'Make one PDF {file} of all chapters, with page numbers.',
        'The chapters should be one document, {file}.',
        'Please merge all chapters to {file} and number the pages.',
      ],
      heldOutPhrasings: [
        'Number the pages and merge the chapters to one document {file}.',
        'Please make {file} of the chapters, with page numbers.',
      ],
    },
    {
      name: 'pdf-redact',
      decoy: 'hide-names',
      phrasings: [
        'Black out the private names in {file}.',
        'Before we share {file}, hide the private names.',
        'The document {file} shows private names; black them out.',
        'Please hide names in {file}, so it can be shared.',
      ],
      heldOutPhrasings: [
        'We share {file} today; black out private names.',
        'Please black out the names in {file} before it is shared.',
      ],
    },
    {
      name: 'pdf-forms',
      decoy: 'form-writer',
      phrasings: [
        'Fill in the form {file} and lock it.',
        'The client needs the form {file} filled in.',
        'Please fill the fields of {file} and lock them.',
        'Complete the form {file} for the client.',
      ],
      heldOutPhrasings: [
        'The fields of form {file} should be filled, then locked.',
        'Please fill in {file}; it is a form for a client.',
      ],
    },
    {
      name: 'pdf-scan',
      decoy: 'text-reader',
      phrasings: [
        'Make the scan {file} searchable.',
        'Read the text of the scanned {file}.',
        'I can not search in the scan {file}. Run OCR.',
        'Please run OCR on {file}.',
      ],
      heldOutPhrasings: [
        'The scanned {file} should be searchable.',
        'Run OCR to read the text of scan {file}.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'pdf-sign',
    decoy: 'contract-seal',
    phrasings: [
      'Sign the contract {file} with the stored key.',
      'Please put our signature on the contract {file}.',
      'The contract {file} needs to be signed.',
    ],
  },
}
