import { createClient } from '@questline/client';
import { QuestlineProvider } from '@questline/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

const client = createClient();
createRoot(document.body.querySelector('div') as HTMLElement).render(
  <StrictMode>
    <QuestlineProvider client={client}>
      <App />
    </QuestlineProvider>
  </StrictMode>,
);
