/** A topic with documents and questions, written for these tests. */
export interface Topic {
  readonly name: string;
  readonly documents: readonly string[];
  readonly questions: readonly string[];
}

export const TOPICS: readonly Topic[] = [
  {
    name: 'bees',
    documents: [
      'A honey bee colony keeps one queen, and thousands of workers feed her.',
      'Beekeepers open the hive in spring to see whether the bees have survived the winter.',
      'Bees dance to tell each other where nectar can be found.',
      'Honey is nectar that the bees have dried with their wings.',
    ],
    questions: ['How do bees make honey?', 'what does a beekeeper do with the hive after winter'],
  },
  {
    name: 'tides',
    documents: [
      'The tide rises because the moon pulls at the water of the sea.',
      'Twice a day the tides leave the harbour dry, and boats lie in the mud.',
      'A spring tide comes when sun and moon pull in one line.',
      'Fishermen read a tide table before they leave the harbour.',
    ],
    questions: ['why does the moon make tides', 'when can boats leave the harbour'],
  },
  {
    name: 'bread',
    documents: [
      'Yeast eats the sugar in flour and fills the dough with gas.',
      'A sourdough starter is flour and water that wild yeasts have settled in.',
      'Bread baked with steam gets a thin and shiny crust.',
      'Kneading the dough stretches its gluten until it holds together.',
    ],
    questions: ['What makes dough rise, is it yeast?', 'how to bake bread with a good crust'],
  },
  {
    name: 'railways',
    documents: [
      'The first railway carried coal from the mines to the river.',
      'Steam engines stopped every few miles to take water.',
      'A signal box moves the switches that lead a train to another track.',
      'Railway time made all the towns of a country agree on one clock.',
    ],
    questions: ['what did early railways carry', 'how is a train led to another track'],
  },
  {
    name: 'volcanoes',
    documents: [
      'A volcano erupts when molten rock rises faster than it can cool.',
      'Ash from the eruption covered the villages on the slope.',
      'Lava that is rich in silica is thick and flows slowly.',
      'Soil made of old lava is fertile, so people farm below volcanoes.',
    ],
    questions: ['Why do people farm near volcanoes?', 'thick slow lava and eruptions of ash'],
  },
  {
    name: 'chess',
    documents: [
      'In chess the king is never taken; the game ends one move before.',
      'A pawn that reaches the last rank becomes a queen.',
      'Chess clocks give each player the same time for all moves.',
      'Castling moves the king and a rook in one turn.',
    ],
    questions: ['which chess move uses king and rook together', 'what becomes of a pawn on the last rank'],
  },
  {
    name: 'glaciers',
    documents: [
      'A glacier is snow that has turned to ice under its own weight.',
      'Glaciers carve valleys with round bottoms into the mountains.',
      'The ice of a glacier flows a few metres every year.',
      'Meltwater from glaciers feeds the rivers through a dry summer.',
    ],
    questions: ['how does snow turn into glacier ice', 'rivers fed by meltwater in summer'],
  },
  {
    name: 'printing',
    documents: [
      'Movable type let a printer set a new page from the same letters.',
      'Ink for printing was made of oil and soot.',
      'A printing press pushes paper onto inked type.',
      'Printed books became cheap enough for students.',
    ],
    questions: ['what was printing ink made of', 'movable type and the printing press'],
  },
  {
    name: 'owls',
    documents: [
      'An owl flies without a sound because its feathers break the air.',
      'Owls turn their heads because their eyes cannot move.',
      'A barn owl hears a mouse under the snow.',
      'Owls swallow their prey whole and cough up the bones.',
    ],
    questions: ['why do owls fly silently', 'can owls move their eyes'],
  },
  {
    name: 'money',
    documents: [
      'The first coins were lumps of metal with a stamp on them.',
      'Paper money began as a receipt for coins that lay in a shop.',
      'A bank lends out the money that others have left with it.',
      'Inflation means that the same coins buy less bread than before.',
    ],
    questions: ['how did paper money begin', 'what does inflation do to coins'],
  },
];
