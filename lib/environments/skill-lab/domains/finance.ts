import type { Domain } from '../domain.js'

export const finance: Domain = {
  name: 'finance',
  extension: 'ofx',
  neighbours: ['spreadsheets', 'calendar'],
  skills: [
    {
      name: 'bank-reconcile',
      decoy: 'statement-check',
      phrasings: [
        'Match the bank statement {file} with the books.',
        'Compare statement {file} with our books.',
        'What differs between {file} and the books?',
        'Please match {file} to the books of the bank.',
      ],
      heldOutPhrasings: [
        'Please compare the books with the bank statement {file}.',
        'The statement {file} should match; list what differs.',
      ],
    },
    {
      name: 'invoice-send',
      decoy: 'bill-maker',
      phrasings: [
        'Make an invoice from {file} and send it.',
        'Send the client the invoice for the hours in {file}.',
        'The job is done; invoice {file} to the client.',
        'Please bill the client for {file}.',
      ],
      heldOutPhrasings: [
        'Please send an invoice for {file} to the client.',
        'The client should get the invoice; the hours are in {file}.',
      ],
    },
    {
      name: 'expense-report',
      decoy: 'receipt-claim',
      phrasings: [
        'Turn the receipts in {file} into an expense report.',
        'Report the expenses of the trip; the receipts are {file}.',
        'I need my expenses back. Receipts: {file}.',
        'Please make an expense report of {file}.',
      ],
      heldOutPhrasings: [
        'Please turn {file} into the report of expenses.',
        'The receipts of the trip are in {file}; make the expense report.',
      ],
    },
    {
      name: 'budget-forecast',
      decoy: 'cash-outlook',
      phrasings: [
        'Forecast our cash from {file}.',
        'How much cash will we have? The books are {file}.',
        'Use {file} to forecast the next months.',
        'Please forecast cash for the next months from the books {file}.',
      ],
      heldOutPhrasings: [
        'The books are in {file}; forecast our cash.',
        'Please use the books {file} to see our cash in the next months.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'payroll-run',
    decoy: 'salary-batch',
    phrasings: [
      'Pay the salaries of the staff in {file}.',
      'The salaries are due; the staff is in {file}.',
      'Please pay all staff in {file}.',
    ],
  },
}
