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
        'Match the bank statement {file} with account {n}.',
        'Compare statement {file} with our books, account {n}.',
        'What differs between {file} and the books of account {n}?',
        'Please match {file} to the books; it is account {n}.',
      ],
      heldOutPhrasings: [
        'Please compare the books of account {n} with the bank statement {file}.',
        'The statement {file} should match account {n}; list what differs.',
      ],
    },
    {
      name: 'invoice-send',
      decoy: 'bill-maker',
      phrasings: [
        'Make an invoice from {file} for client {n} and send it.',
        'Send client {n} the invoice for the hours in {file}.',
        'The job is done; invoice {file} to client {n}.',
        'Please bill client {n} for {file}.',
      ],
      heldOutPhrasings: [
        'Please send an invoice for {file} to client {n}.',
        'Client {n} should get the invoice; the hours are in {file}.',
      ],
    },
    {
      name: 'expense-report',
      decoy: 'receipt-claim',
      phrasings: [
        'Turn the receipts in {file} into an expense report for trip {n}.',
        'Report the expenses of trip {n}; the receipts are {file}.',
        'I need my expenses of trip {n} back. Receipts: {file}.',
        'Please make an expense report of {file}, trip {n}.',
      ],
      heldOutPhrasings: [
        'Please turn {file} into the report of expenses for trip {n}.',
        'The receipts of trip {n} are in {file}; make the expense report.',
      ],
    },
    {
      name: 'budget-forecast',
      decoy: 'cash-outlook',
      phrasings: [
        'Forecast our cash for {n} months from {file}.',
        'How much cash will we have in {n} months? The books are {file}.',
        'Use {file} to forecast the next {n} months.',
        'Please forecast cash {n} months ahead from books {file}.',
      ],
      heldOutPhrasings: [
        'The books are in {file}; forecast cash for the next {n} months.',
        'Please use the books {file} to see our cash in {n} months.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'payroll-run',
    decoy: 'salary-batch',
    phrasings: [
      'Pay the salaries of the staff in {file}, pay run {n}.',
      'Pay run {n} is due; the staff is in {file}.',
      'Please pay all staff in {file} with run {n}.',
    ],
  },
}
