import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  // In this repository, packages are read from their sources: leave the line out.
  resolve: { conditions: ['@questline/source', ...defaultClientConditions] },
  server: { proxy: { '/api': 'http://localhost:3000', '/login': 'http://localhost:3000' } },
});
