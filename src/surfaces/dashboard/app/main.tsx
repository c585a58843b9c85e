import { render } from 'preact';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/components.css';
import { startLive, watchPresses } from './live.ts';
import { followApprovals } from './notices.tsx';
import { followLinks } from './router.ts';
import { Shell } from './shell.tsx';
import { followTheme } from './theme.ts';
import { followWho } from './who.ts';

followTheme();
followLinks();
watchPresses();
followWho();
followApprovals();
void startLive();
render(<Shell />, document.getElementById('app')!);
