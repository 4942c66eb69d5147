import { expect, it } from 'vitest';
import { codeMail } from './mail.ts';

it('shows the code and the name of the app in both forms, the name as text', () => {
  const mail = codeMail('ada@example.com', '012345', 'Q & A <b>');
  expect(mail).toMatchObject({ to: 'ada@example.com', subject: '012345 is your code for Q & A <b>' });
  expect(mail.text).toBe(
    [
      'Your code for Q & A <b> is 012345.',
      'It can be used once, within 10 minutes. Do not share it.',
      'If you did not ask for it, ignore this mail.\n',
    ].join('\n\n'),
  );
  expect(mail.html).toContain('<p>Your code for Q &amp; A &lt;b&gt; is</p>');
  expect(mail.html).toContain('<strong>012345</strong>');
  expect(mail.html).toContain('<p>It can be used once, within 10 minutes. Do not share it.</p>');
  expect(mail.html).toContain('<p>If you did not ask for it, ignore this mail.</p>');
  expect(mail.html).not.toContain('<b>');
});
