// The editor of the workbench: CodeMirror for controllers, with marks of lines. Built into editor.js; see README.md.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const marking = StateEffect.define();

// Marks stay until the text changes, as they are about the text that was verified.
const marked = StateField.define({
  create: () => Decoration.none,
  update(marks, change) {
    for (const effect of change.effects) if (effect.is(marking)) return effect.value;
    return change.docChanged ? Decoration.none : marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword], class: "tok-keyword" },
  { tag: [tags.number, tags.bool], class: "tok-number" },
  { tag: [tags.string, tags.docString], class: "tok-string" },
  { tag: tags.comment, class: "tok-comment" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.function(tags.variableName)], class: "tok-function" },
]);

/**
 * Put an editor into an element.
 *
 * about: `label`, the text; `changed`, which is called when a person changes the text; `submit`, called on Ctrl-Enter.
 * Tab leaves the editor, as in any other field.
 */
export function edit(parent, { label, text, changed, submit }) {
  let quiet = false;
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        keymap.of([{ key: "Mod-Enter", run: () => { submit(); return true; } }, ...defaultKeymap, ...historyKeymap]),
        lineNumbers(), history(), drawSelection(), highlightActiveLine(), bracketMatching(), indentOnInput(),
        indentUnit.of("    "), EditorState.tabSize.of(4), EditorView.lineWrapping,
        python(), syntaxHighlighting(colours), marked,
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
        EditorView.updateListener.of((update) => { if (update.docChanged && !quiet) changed(); }),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    replace(other) {
      quiet = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: other } });
      quiet = false;
    },
    /** classes: an object from the number of a line to its class. */
    mark(classes) {
      const lines = Object.entries(classes).filter(([line]) => line <= view.state.doc.lines);
      const marks = lines.map(([line, name]) => Decoration.line({ class: name }).range(view.state.doc.line(line).from));
      view.dispatch({ effects: marking.of(Decoration.set(marks, true)) });
    },
    /** Bring a line into view. */
    show(line) {
      const at = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines)).from;
      view.dispatch({ effects: EditorView.scrollIntoView(at, { y: "nearest" }) });
    },
    focus: () => view.focus(),
  };
}
