// Node itself: the baseline of all other numbers of this kind.
import { report, untilReleased } from '../../../support/subject.ts';

report({});
await untilReleased();
