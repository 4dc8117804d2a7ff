import { memoByText } from '../memo/memo-by-text.ts';
import { compileTemplate } from './template.ts';

// A template may be as long as 256 KiB, and its compiled form is several times as large.
const MOST_CHARACTERS = 1_048_576;

/** recentTemplate is `compileTemplate` with a memory: every reconcile of an object asks for the same ones. */
export const recentTemplate = memoByText(compileTemplate, MOST_CHARACTERS);
