import { notMatching, type TextLimits, textProblem } from './text-check.ts';

/** REF_NAME limits refs to names that git accepts for branches and tags, in short or in full, and to commits. */
export const REF_NAME: TextLimits = {
  maxLength: 255,
  checks: [
    notMatching('^-', 'must not begin with a dash; write the name of a branch or tag, or a commit'),
    notMatching(
      '[\\x00-\\x20\\x7f~^:?*\\[\\\\]',
      'contains white space, a control character or one of ~ ^ : ? * [ \\, which names of branches and tags cannot contain; remove it',
    ),
    notMatching(
      '\\.\\.|@\\{|//|^/|[/.]$|^@$|(^|/)\\.|\\.lock(/|$)',
      'is no name of a branch or tag: it contains "..", "//" or "@{", a part of it begins with "." or ends in ".lock", or it begins or ends with "/" or "."; correct the name',
    ),
    notMatching(
      '^refs(/|$)',
      'is neither a branch nor a tag; write refs/heads/NAME, refs/tags/NAME, or the short name',
      '^refs/(heads|tags)/',
    ),
  ],
};

/** refNameProblem returns what is wrong with a ref, and how to fix it. Undefined: nothing. */
export function refNameProblem(ref: string): string | undefined {
  return textProblem(ref, REF_NAME);
}
