import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { resumeSession } from './api/session.ts';
import { App, loadFirstPage } from './app.tsx';
import { applyTheme } from './layout/theme.ts';
import './styles/index.css';

applyTheme();
void resumeSession();
loadFirstPage();
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
