import { labShape, smolShape } from '../model-folder.js'
import { decodeExperiment } from './decode.js'
import { lossExperiment } from './loss.js'
import { densityExperiment, termsExperiment } from './loss-variants.js'
import type { Experiment } from './setting.js'
import { sharedPromptExperiment, trainExperiment } from './whole-model.js'

const T = 1024
const widths = [256, 576, 896]
const vocabularies = [8192, 49_152, 151_936]

/**
 * quick: small shapes, minutes. usual: a small, a middle and a large shape of the loss (the large one at 25% and against few),
 * and the whole-model races. all: every width with every vocabulary at 100% and 25%.
 */
export function experiments(extent: 'quick' | 'usual' | 'all'): Experiment[] {
  if (extent === 'quick') {
    const shape = { T, D: 256, V: 8192 }
    return [
      lossExperiment({ ...shape, density: 1 }, 'all'),
      lossExperiment({ ...shape, density: 0.25 }, 'all'),
      densityExperiment(shape),
      termsExperiment(shape),
      trainExperiment(labShape, 2, 256),
      decodeExperiment(labShape, 32, 32),
      sharedPromptExperiment(labShape, 8, 512, 32),
    ]
  }
  const middle = { T, D: 576, V: 49_152 }
  const losses =
    extent === 'all'
      ? widths.flatMap((D) =>
          vocabularies.flatMap((V) =>
            [1, 0.25].map((density) => lossExperiment({ T, D, V, density }, 'all')),
          ),
        )
      : [
          lossExperiment({ T, D: 256, V: 8192, density: 1 }, 'all'),
          lossExperiment({ T, D: 256, V: 8192, density: 0.25 }, 'all'),
          lossExperiment({ ...middle, density: 1 }, 'all'),
          lossExperiment({ ...middle, density: 0.25 }, 'all'),
          lossExperiment({ T, D: 896, V: 151_936, density: 0.25 }, 'few'),
        ]
  return [
    ...losses,
    densityExperiment(middle),
    termsExperiment(middle),
    trainExperiment(smolShape, 1, 512),
    decodeExperiment(smolShape, 32, 32),
    sharedPromptExperiment(smolShape, 8, 1024, 64),
  ]
}
