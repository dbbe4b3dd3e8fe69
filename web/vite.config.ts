import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// biome-ignore lint/style/noDefaultExport: Vite wants it so
export default defineConfig({
  root: import.meta.dirname,
  // The path of the service is known only when it runs: `<base>` in the page says it.
  base: './',
  plugins: [react()],
  build: {
    target: ['chrome123', 'firefox128', 'safari17.5'],
    assetsInlineLimit: 0,
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    // What several pages use comes at once: on a fast connection many small files take longer than one.
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ name: 'shared', minShareCount: 2 }],
        },
      },
    },
  },
});
