import { defineConfig } from 'vitest/config'

// Time limits only stop what hangs: none of them measures anything.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/property-seed.ts'],
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
})
