import type { Domain } from '../domain.js'

export const databases: Domain = {
  name: 'databases',
  extension: 'db',
  neighbours: ['spreadsheets', 'versioning'],
  skills: [
    {
      name: 'sql-index',
      decoy: 'query-boost',
      phrasings: [
        'Query {n} on {file} is slow; add the index it needs.',
        'Speed up the slow query {n} of {file} with an index.',
        'Please add an index to {file} for query {n}.',
        'Database {file} takes too long for query {n}. An index may help.',
      ],
      heldOutPhrasings: [
        'The query {n} takes too long on {file}; speed it up.',
        'Please speed up query {n} in {file} with the index it needs.',
      ],
    },
    {
      name: 'sql-migrate',
      decoy: 'schema-change',
      phrasings: [
        'Run migration {n} on {file}.',
        'Change the schema of {file} with migration {n}.',
        'Please migrate {file} to schema {n}.',
        'The schema of {file} must move to migration {n}.',
      ],
      heldOutPhrasings: [
        'Migrate the schema of {file}; the migration is {n}.',
        'Please change {file} to the schema of migration {n}.',
      ],
    },
    {
      name: 'sql-restore',
      decoy: 'backup-recover',
      phrasings: [
        'Restore the lost rows of {file} from the backup of day {n}.',
        'Rows of {file} are lost; day {n} still has them in the backup.',
        'Please bring back lost rows in {file}, backup of day {n}.',
        'Get the missing rows of {file} from backup {n}.',
      ],
      heldOutPhrasings: [
        'Day {n} has a backup with the lost rows of {file}; restore them.',
        'Please restore missing rows to {file} from the backup {n}.',
      ],
    },
    {
      name: 'sql-archive',
      decoy: 'order-purge',
      phrasings: [
        'Move orders older than {n} months from {file} to the archive.',
        'Archive the orders in {file} that are over {n} months old.',
        'There are too many orders in {file}; archive those older than {n} months.',
        'Please archive old orders of {file}, {n} months and older.',
      ],
      heldOutPhrasings: [
        'Orders of {n} months and older should move from {file} to the archive.',
        'Please move the old orders in {file} out, over {n} months.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'sql-anonymize',
    decoy: 'test-clone',
    phrasings: [
      'Make a test copy of {file} with {n} clients and no personal data.',
      'We need {file} for tests without personal data; keep {n} clients.',
      'Please copy {file} for tests with {n} clients.',
    ],
  },
}
