import { defineConfig } from '@kubb/core';
import { pluginClient } from '@kubb/plugin-client';
import { pluginOas } from '@kubb/plugin-oas';
import { pluginTs } from '@kubb/plugin-ts';

// biome-ignore lint/style/noDefaultExport: Kubb reads the default export
export default defineConfig({
  input: { path: '../../openapi.json' },
  output: { path: 'generated/kubb', clean: true, format: false, lint: false },
  plugins: [pluginOas({ generators: [] }), pluginTs(), pluginClient({ client: 'fetch' })],
});
