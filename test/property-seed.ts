import fc from 'fast-check'

// Property tests draw the same cases every time, so that the same code has the same verdict. FAST_CHECK_SEED draws others.
fc.configureGlobal({ seed: Number(process.env.FAST_CHECK_SEED ?? 20261130) })
