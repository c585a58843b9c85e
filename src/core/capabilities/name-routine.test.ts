import { expect, test } from 'vitest';
import { quotedSpans } from '../vocabulary/text.ts';
import { nameRoutine } from './name-routine.ts';
import { publicWords } from './public-words.ts';

interface Job {
  readonly intents: readonly string[];
  readonly tools: readonly string[];
  readonly results?: readonly string[];
  readonly values?: readonly string[];
  /** What the servers say of the tools, besides. */
  readonly words?: string;
}

const DOCS = ['notes', 'immigration', 'statistics', 'bill', 'earnings', 'yield', 'weekly', 'invoice'];

function nameOf({ intents, tools, results = tools.slice(-1), values = [], words = '' }: Job): string {
  const isPublic = publicWords('', [...tools, ...DOCS, words]);
  return nameRoutine({ intents, tools, results, isPublic, values })[0]?.join('_') ?? '';
}

test.each<[string, Job]>([
  [
    'get_immigration_statistics',
    {
      intents: [
        "I'm doing a research project on immigration. Can you find the latest data for Australia?",
        'Can you tell me the immigration statistics for Canada?',
      ],
      tools: ['get_country_code', 'set_wifi_status', 'get_immigration_statistics_by_country'],
    },
  ],
  [
    'calculate_earnings_yield',
    {
      intents: ["I want to know the earnings yield for a company I'm interested in. Can you find that out?"],
      tools: ['get_stock_ticker', 'calculate_earnings_yield'],
    },
  ],
  [
    'measure_notes',
    { intents: ['find out how large the notes are'], tools: ['list_directory', 'get_file_info'] },
  ],
  ['count_notes', { intents: ['How many notes are there?'], tools: ['list_directory', 'read_text_file'] }],
  [
    'summarise_notes',
    {
      intents: ['summarise the notes of this week into one file', 'Please summarise my notes'],
      tools: ['list_directory', 'read_text_file', 'write_file'],
    },
  ],
  [
    'duplicate_text',
    {
      intents: ['duplicate the text for monday', 'please duplicate the text for friday'],
      tools: ['read_text_file', 'write_file'],
      values: ['monday', 'friday'],
    },
  ],
  [
    'get_immigration_statistics',
    {
      intents: ['compare the results for Canada', 'compare the results for Peru'],
      tools: ['get_country_code', 'get_immigration_statistics'],
    },
  ],
  [
    'send_bill',
    {
      intents: ['Send Ada Lovelace the bill they asked for'],
      tools: ['find_customer', 'send_message'],
      values: ['Ada Lovelace'],
    },
  ],
  [
    'change_clock_alarm',
    { intents: ['Please move my alarm to 7:00 AM'], tools: ['clock_alarm_query', 'clock_alarm_change'] },
  ],
  ['read_text_file_and_write_file', { intents: [], tools: ['read_text_file', 'write_file'], results: [] }],
  // What is described stays with what describes it.
  [
    'analyze_financial_performance',
    {
      intents: [
        'Could you analyze the financial performance of this company?',
        'Look through its financial statements',
      ],
      tools: ['read_report', 'get_ratios'],
      words: 'financial performance',
    },
  ],
  [
    'get_ratios',
    { intents: ['Could you analyze the financial performance?'], tools: ['get_ratios'], words: 'financial' },
  ],
  [
    'change_hotel_booking',
    { intents: ['I need to change the check-in date'], tools: ['hotel_booking_modification'] },
  ],
  // What a value is introduced with, and when, is left out.
  [
    'check_product',
    { intents: ['I want to check out product ID 9098084'], tools: ['search', 'auto-complete'] },
  ],
  [
    'find_phone_number',
    { intents: ['Find the phone number of the owner'], tools: ['search'], words: 'phone' },
  ],
  [
    'delete_report',
    { intents: ["Delete last year's report located in the archive"], tools: ['file_modify'] },
  ],
  // Tools are named after who does it, or by a noun; a name in them may be written as two words elsewhere.
  [
    'buy_house',
    { intents: ['How much can I spend on a house?'], tools: ['FinanceTool', 'HousePurchasingTool'] },
  ],
  ['find_research', { intents: ['Research on bees, please'], tools: ['ResearchFinder'] }],
  ['assess_legal_risk', { intents: ['Is there a legal risk?'], tools: ['legal_risk_assessment_tool'] }],
  ['get_pdf_url', { intents: ['A pdf with an url about bees'], tools: ['PDF&URLTool'] }],
  [
    'log_in_allrecipes',
    {
      intents: ['Can you sign me into my AllRecipes account? I need to update my profile.'],
      tools: ['validate_email', 'allrecipes_user_login'],
    },
  ],
  ['check_charger_location_full', { intents: ['Is the charger full?'], tools: ['is_charger_location_full'] }],
  ['place_order', { intents: ['Two coffees'], tools: ['menu_select', 'place_order', 'payment_processing'] }],
  [
    'add_to_fresh_direct_favorites',
    { intents: ['Keep it in my favorites on Fresh Direct'], tools: ['fresh_direct_add_to_favorites'] },
  ],
  ['translate_text', { intents: ['Convert this text for me'], tools: ['translate_text_to_language'] }],
  ['delete_transaction', { intents: ['The transaction is wrong'], tools: ['del_transaction'] }],
])('[CAP-12] a routine is called %s: the action and its object', (name, job) => {
  expect(nameOf(job)).toBe(name);
});

test('[CAP-12] two similar routines get different names from the names of their tools', () => {
  const names = nameRoutine({
    intents: ['growth of the population of a city'],
    tools: ['get_population_growth_by_city'],
    results: ['get_population_growth_by_city'],
    isPublic: publicWords('', ['population growth by city']),
  });
  expect(names.slice(0, 2).map((words) => words.join('_'))).toEqual([
    'get_population_growth',
    'get_population_growth_by_city',
  ]);
});

test('[CAP-12] a number distinguishes two names only where nothing else does', () => {
  const names = nameRoutine({
    intents: ['Music for my trip', 'Which music goes with this city?'],
    tools: ['TripTool', 'MusicTool'],
    results: ['MusicTool'],
    isPublic: () => true,
  });
  expect(names.map((words) => words.join('_'))).toEqual(['get_music', 'get_music_with_trip']);
});

const CODE = `
  const rows = await mcp.crm.find_customers({ "swordfish": 'tangerine', note: \`marzipan\` }); // pistachio
  return rows.filter((row) => row.isGold).map(({ nickname }) => nickname);
`;

test.each([
  'use my account ID 123456 and password abc123 to log into acme',
  'Read /tmp/joe/a.txt and count "big" words of report.md for bob@example.org, 3 times',
  'Find the customers of Jane Miller with the password swordfish or tangerine, marzipan, pistachio',
  'nicknames of all gold customers by turnover',
  '数えて',
  'please do it for me',
])('[CAP-23] nothing personal in %j gets into a name', (intent) => {
  const names = nameRoutine({
    intents: [intent],
    tools: ['find_customers'],
    results: ['find_customers'],
    isPublic: publicWords(CODE, ['crm:find_customers', 'Looks up customers by turnover']),
  });
  expect(names.length).toBeGreaterThan(0);
  expect(names.flat().join(' ')).not.toMatch(
    /\d|joe|bob|jane|miller|acme|swordfish|tangerine|marzipan|pistachio/i,
  );
});

test('[CAP-23] a hostile intent is cut', () => {
  const names = (intent: string) =>
    nameRoutine({ intents: [intent], tools: [], results: [], isPublic: () => true });
  expect(names(' '.repeat(1_000_000))).toEqual([]);
  expect(names('count words '.repeat(100_000)).flat().length).toBeLessThan(10);
});

test('[CAP-23] quoted texts are distinguished from apostrophes', () => {
  const said = `Rename 'a b.txt' to "it's new" for the dogs' owner, don't ask; “curly” and \`code\``;
  expect(quotedSpans(said).map(({ text }) => text)).toEqual(['a b.txt', "it's new", 'curly', 'code']);
  expect(quotedSpans(`5" of rain, he said "no`).map(({ text }) => text)).toEqual([]);
  for (const { start, end, text } of quotedSpans(said)) expect(said.slice(start + 1, end - 1)).toBe(text);
});
