import { defineConfig } from 'orval';

// biome-ignore lint/style/noDefaultExport: orval reads the default export
export default defineConfig({
  muster: {
    input: '../../openapi.json',
    output: {
      target: 'generated/orval/muster.ts',
      client: 'fetch',
      baseUrl: { runtime: 'process.env.MUSTER_URL' },
    },
  },
});
