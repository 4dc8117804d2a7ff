import { describe, expect, it } from 'vitest';
import { sanitizeErrorText } from './sanitize-error-text.ts';

describe('the error text of a store', () => {
  it.each([
    ['1 error occurred:\n\t* permission denied\n\n', '1 error occurred: * permission denied'],
    ['trace 0a1b2c3d-0000-4000-8000-0123456789ab at 2026-01-01 10:00:00Z ended', 'trace … at … ended'],
    ['bad token hvs.CAESIJx-y_z and eyJhbGciOi.eyJzdWIi.c2ln', 'bad token … and …'],
    ['x'.repeat(300), `${'x'.repeat(200)}…`],
  ])('%j becomes one line without volatile parts and credentials', (text, shown) => {
    expect(sanitizeErrorText(text)).toBe(shown);
  });

  it('does not repeat the credentials that were sent', () => {
    expect(sanitizeErrorText('wrong secret id: open sesame!', ['open sesame', ''])).toBe('wrong secret id: …!');
  });
});
