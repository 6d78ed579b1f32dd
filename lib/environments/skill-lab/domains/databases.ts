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
        'A query on {file} is slow; add the index it needs.',
        'Speed up the slow query of {file} with an index.',
        'Please add an index to {file} for the slow query.',
        'Database {file} has a slow query. An index may help.',
      ],
      heldOutPhrasings: [
        'The slow query takes too long on {file}; speed it up.',
        'Please speed up {file} with the index that the query needs.',
      ],
    },
    {
      name: 'sql-migrate',
      decoy: 'schema-change',
      phrasings: [
        'Run the migration on {file}.',
        'Change the schema of {file} with the migration.',
        'Please migrate {file} to the new schema.',
        'The schema of {file} must change.',
      ],
      heldOutPhrasings: [
        'Migrate {file}; the schema must change.',
        'Please change {file} to the new schema with the migration.',
      ],
    },
    {
      name: 'sql-restore',
      decoy: 'backup-recover',
      phrasings: [
        'Restore the lost rows of {file} from the backup.',
        'Rows of {file} are lost; the backup still has them.',
        'Please bring back lost rows in {file}.',
        'Get the missing rows of {file} from the backup.',
      ],
      heldOutPhrasings: [
        'The backup has the lost rows of {file}; restore them.',
        'Please restore missing rows to {file} from the backup.',
      ],
    },
    {
      name: 'sql-archive',
      decoy: 'order-purge',
      phrasings: [
        'Move old orders from {file} to the archive.',
        'Archive the old orders in {file}.',
        'There are too many old orders in {file}; archive them.',
        'Please archive the orders of {file} that are old.',
      ],
      heldOutPhrasings: [
        'The old orders of {file} should move to the archive.',
        'Please move old orders out of {file}.',
      ],
    },
  ],
  heldOutSkill: {
    name: 'sql-anonymize',
    decoy: 'test-clone',
    phrasings: [
      'Make a test copy of {file} with no personal data.',
      'We need {file} for tests without personal data.',
      'Please copy {file} for tests, without personal data.',
    ],
  },
}
