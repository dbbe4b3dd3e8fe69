import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/**
 * Only a few pages and dialogs share the code in these folders, and load what they need of it. A part that others need in
 * turn cannot be loaded again after a failure without a reload of the page, so these are few.
 */
const isSharedByFew = /\/(src\/import|web\/src\/report)\//;

// biome-ignore lint/style/noDefaultExport: Vite requires it
export default defineConfig({
  root: import.meta.dirname,
  // Relative URLs: the service sets its path in `<base>` at run time.
  base: './',
  plugins: [react()],
  build: {
    target: ['chrome123', 'firefox128', 'safari17.5'],
    assetsInlineLimit: 0,
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    // One stylesheet and one shared chunk: on a fast connection many small files take longer than one.
    cssCodeSplit: false,
    // In kB, before compression. A test limits what the first page loads, so this is no reason for a warning.
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ name: 'shared', minShareCount: 2, test: (module) => !isSharedByFew.test(module) }],
        },
      },
    },
  },
});
