// Emoji and their names, as they are usual after a colon. The first ones are the ones most used as
// reactions. Loaded when it is needed.

import { folded } from "./format.js";

const table = `
👍 +1 thumbsup yes like
❤️ heart love
😂 joy laugh tears
😮 open_mouth wow surprised
😢 cry sad
🎉 tada party celebrate
👀 eyes look
✅ white_check_mark done check
🙏 pray please thanks
🔥 fire hot
🤔 thinking hmm
👎 -1 thumbsdown no
😀 grinning happy
😃 smiley
😄 smile
😁 grin
😆 laughing satisfied
😅 sweat_smile
🤣 rofl
🙂 slightly_smiling_face
🙃 upside_down_face
😉 wink
😊 blush
😇 innocent angel
🥰 smiling_face_with_three_hearts
😍 heart_eyes
🤩 star_struck
😘 kissing_heart
😋 yum delicious
😛 stuck_out_tongue
😜 stuck_out_tongue_winking_eye
🤪 zany_face
🤑 money_mouth_face
🤗 hugs
🤭 hand_over_mouth
🤫 shushing_face quiet
🤐 zipper_mouth_face
🤨 raised_eyebrow
😐 neutral_face
😑 expressionless
😶 no_mouth
😏 smirk
😒 unamused
🙄 roll_eyes
😬 grimacing
🤥 lying_face
😌 relieved
😔 pensive
😪 sleepy
😴 sleeping zzz
😷 mask
🤒 face_with_thermometer ill
🤢 nauseated_face
🤮 vomiting_face
🤧 sneezing_face
🥵 hot_face
🥶 cold_face
😵 dizzy_face
🤯 exploding_head mind_blown
🤠 cowboy_hat_face
🥳 partying_face
😎 sunglasses cool
🤓 nerd_face
🧐 monocle_face
😕 confused
😟 worried
🙁 slightly_frowning_face
😯 hushed
😲 astonished
😳 flushed
🥺 pleading_face
😦 frowning
😨 fearful
😰 cold_sweat
😥 disappointed_relieved
😭 sob
😱 scream
😖 confounded
😣 persevere
😞 disappointed
😓 sweat
😩 weary
😫 tired_face
🥱 yawning_face
😤 triumph
😡 rage
😠 angry
🤬 cursing_face
😈 smiling_imp
💀 skull
💩 poop
🤡 clown_face
👻 ghost
👽 alien
🤖 robot bot
😺 smiley_cat
😹 joy_cat
🙈 see_no_evil
🙉 hear_no_evil
🙊 speak_no_evil
💋 kiss
💯 100 hundred
💥 boom collision
💫 dizzy
💦 sweat_drops
💤 zzz
👋 wave hello bye
🖐️ raised_hand_with_fingers_splayed
✋ hand raised_hand stop
👌 ok_hand
✌️ v victory
🤞 crossed_fingers luck
🤘 metal
🤙 call_me_hand
👈 point_left
👉 point_right
👆 point_up_2
👇 point_down
☝️ point_up
✊ fist
👊 facepunch punch
👏 clap applause
🙌 raised_hands
🤝 handshake deal
💪 muscle strong
🧠 brain
👶 baby
🧑‍💻 technologist developer
🤷 shrug
🤦 facepalm
🙋 raising_hand
🙇 bow
🏃 runner running
💃 dancer
👑 crown
🎩 tophat
👓 eyeglasses
🐶 dog
🐱 cat
🐭 mouse
🐰 rabbit
🦊 fox_face
🐻 bear
🐼 panda_face
🐷 pig
🐸 frog
🐵 monkey_face
🐔 chicken
🐧 penguin
🦆 duck
🦉 owl
🐝 bee
🐛 bug
🦋 butterfly
🐌 snail
🐢 turtle
🐍 snake
🐙 octopus
🐳 whale
🦄 unicorn
🌹 rose
🌻 sunflower
🌷 tulip
🌱 seedling
🌲 evergreen_tree tree
🌵 cactus
🍀 four_leaf_clover luck
🍁 maple_leaf
🍎 apple
🍌 banana
🍇 grapes
🍓 strawberry
🍒 cherries
🍑 peach
🍍 pineapple
🥑 avocado
🍅 tomato
🥕 carrot
🌶️ hot_pepper
🍞 bread
🧀 cheese
🍔 hamburger
🍟 fries
🍕 pizza
🌮 taco
🍣 sushi
🍦 icecream
🍩 doughnut donut
🍪 cookie
🎂 birthday cake
🍰 cake
🍫 chocolate_bar
☕ coffee
🍵 tea
🍺 beer
🍻 beers cheers
🍷 wine_glass
🥂 clinking_glasses
🍾 champagne
🍽️ plate_with_cutlery lunch
🌍 earth_africa world
🏠 house home
🏢 office
🏖️ beach_umbrella holiday
⛰️ mountain
🚀 rocket ship launch
✈️ airplane
🚗 car
🚌 bus
🚲 bike
🚂 train
⛵ sailboat
⏰ alarm_clock
⏳ hourglass wait
⌛ hourglass_done
☀️ sunny sun
🌙 crescent_moon moon
⭐ star
🌟 star2
⚡ zap lightning
☁️ cloud
🌧️ rain
❄️ snowflake
☃️ snowman
☔ umbrella
🌈 rainbow
🌊 ocean
🎁 gift
🎈 balloon
🏆 trophy
🥇 1st_place_medal gold
🏅 medal
⚽ soccer
🏀 basketball
🎾 tennis
🎯 dart target
🎲 game_die dice
🎮 video_game
🎵 musical_note
🎶 notes
🎤 microphone
🎧 headphones
🎸 guitar
🎬 clapper
🎨 art
📷 camera
📱 iphone phone
💻 computer laptop
⌨️ keyboard
🖨️ printer
💾 floppy_disk save
📞 telephone_receiver call
🔋 battery
🔌 electric_plug
💡 bulb idea
🔦 flashlight
📖 book
📚 books
📝 memo note
✏️ pencil2
📌 pushpin
📎 paperclip
📅 date calendar
📈 chart_with_upwards_trend up
📉 chart_with_downwards_trend down
📦 package
📫 mailbox
✉️ envelope email
🔒 lock
🔓 unlock
🔑 key
🔨 hammer
🔧 wrench
⚙️ gear
🔗 link
🧪 test_tube test
💊 pill
🚪 door
🛒 shopping_cart
💰 moneybag
💎 gem
⚖️ balance_scale
🔍 mag search
🔔 bell
🔕 no_bell
📣 mega announcement
💬 speech_balloon
💭 thought_balloon
🧡 orange_heart
💛 yellow_heart
💚 green_heart
💙 blue_heart
💜 purple_heart
🖤 black_heart
💔 broken_heart
✔️ heavy_check_mark
❌ x cross wrong
❗ exclamation
❓ question
⚠️ warning
🚫 no_entry_sign
⛔ no_entry
♻️ recycle
🆗 ok
🆕 new
🔴 red_circle
🟡 yellow_circle
🟢 green_circle
🔵 large_blue_circle
🚧 construction wip
🏁 checkered_flag finish
🚩 triangular_flag_on_post
🏳️‍🌈 rainbow_flag
`;

/** @type {{emoji: string, names: string[]}[]} */
const all = table
  .trim()
  .split("\n")
  .map((line) => {
    const [emoji, ...names] = line.split(" ");
    return { emoji, names };
  });

/**
 * At most `limit` emoji that have a name with the words, and that name: those first whose name
 * begins so.
 * @param {string} query
 * @param {number} [limit]
 * @returns {{emoji: string, name: string}[]}
 */
export function findEmoji(query, limit = all.length) {
  const words = folded(query)
    .split(/[\s_]+/)
    .filter(Boolean);
  const found = [];
  for (const [index, { emoji, names }] of all.entries()) {
    const ranked = names
      .filter((name) => words.every((word) => name.includes(word)))
      .map((name) => {
        const [word = name] = words;
        return {
          name,
          rank: name === word ? 0 : name.startsWith(word) ? 1 : name.includes(`_${word}`) ? 2 : 3,
        };
      });
    if (ranked.length === 0) continue;
    const [{ name, rank }] = words.length === 0 ? ranked : ranked.sort((a, b) => a.rank - b.rank);
    found.push({ emoji, name, rank: (words.length === 0 ? 0 : rank) * all.length + index });
  }
  return found.sort((a, b) => a.rank - b.rank).slice(0, limit);
}
