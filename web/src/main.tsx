import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { startLiveUpdates } from './api/live-updates.ts';
import { resumeSession } from './api/session.ts';
import { App, loadFirstPage } from './app.tsx';
import { applyTheme } from './layout/theme.ts';
import { watchLinkToken } from './sign-in/link-token.ts';
import './styles/index.css';

applyTheme();
watchLinkToken();
startLiveUpdates();
void resumeSession();
loadFirstPage();
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
