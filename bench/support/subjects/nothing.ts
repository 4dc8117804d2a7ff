// Node itself: the baseline of all other numbers of this kind.
import { report, untilReleased } from '../subject.ts';

report({});
await untilReleased();
