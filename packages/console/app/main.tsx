import './style.css';
import { render } from 'preact';
import { Console } from './app.tsx';
import { readConfiguration } from './config.ts';
import { applyTheme, readTheme } from './parts/theme.tsx';

applyTheme(readTheme());
const root = document.getElementById('app');
if (root !== null) {
  root.replaceChildren();
  render(<Console configuration={readConfiguration()} />, root);
}
