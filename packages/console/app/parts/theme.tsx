import { useEffect, useState } from 'preact/hooks';

const KEPT = 'questline.theme';
const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(
    () => THEMES.find((one) => one === localStorage.getItem(KEPT)) ?? 'system',
  );
  useEffect(() => {
    localStorage.setItem(KEPT, theme);
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  return (
    <label class="theme">
      <span aria-hidden="true">Theme</span>
      <select
        aria-label="Theme"
        value={theme}
        onChange={(event) => setTheme(event.currentTarget.value as Theme)}
      >
        {THEMES.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  );
}
