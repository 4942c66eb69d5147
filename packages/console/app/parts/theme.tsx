import { useEffect, useState } from 'preact/hooks';

const KEPT = 'questline.theme';
const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

/** The event that announces a new theme: images of diagrams have colors of their own. */
const THEME_CHANGED = 'questline:theme';

export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(readTheme);
  useEffect(() => {
    localStorage.setItem(KEPT, theme);
    applyTheme(theme);
  }, [theme]);
  return (
    <select
      class="ghost theme"
      aria-label="Theme"
      value={theme}
      onChange={(event) => setTheme(event.currentTarget.value as Theme)}
    >
      {THEMES.map((one) => (
        <option key={one} value={one}>
          {one === 'system' ? 'System theme' : one === 'light' ? 'Light' : 'Dark'}
        </option>
      ))}
    </select>
  );
}

export function readTheme(): Theme {
  return THEMES.find((one) => one === localStorage.getItem(KEPT)) ?? 'system';
}

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
  dispatchEvent(new Event(THEME_CHANGED));
}

/** Whether the page is dark now, by choice or by the system. */
export function useIsDark(): boolean {
  const [isDark, setDark] = useState(isDarkNow);
  useEffect(() => {
    const changed = (): void => setDark(isDarkNow());
    const media = matchMedia('(prefers-color-scheme: dark)');
    addEventListener(THEME_CHANGED, changed);
    media.addEventListener('change', changed);
    return () => {
      removeEventListener(THEME_CHANGED, changed);
      media.removeEventListener('change', changed);
    };
  }, []);
  return isDark;
}

function isDarkNow(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
}
