import type { Domain } from '../domain.js'
import { audio } from './audio.js'
import { calendar } from './calendar.js'
import { databases } from './databases.js'
import { deployment } from './deployment.js'
import { documents } from './documents.js'
import { finance } from './finance.js'
import { images } from './images.js'
import { logs } from './logs.js'
import { mail } from './mail.js'
import { maps } from './maps.js'
import { spreadsheets } from './spreadsheets.js'
import { versioning } from './versioning.js'

/** Every domain of the library, in a fixed order. */
export const domains: readonly Domain[] = [
  spreadsheets,
  documents,
  versioning,
  databases,
  logs,
  images,
  mail,
  calendar,
  deployment,
  audio,
  maps,
  finance,
]
