/// A plot as inline SVG, drawn for the width of a phone; wider pages scale it.
struct Plot {
  /// Points in the order of the first axis.
  struct Line {
    var name: String
    /// If `y` is `nil`, the line is interrupted.
    var points: [(x: Double, y: Double?)]
    var isFilled = false
  }

  /// A range of the first axis.
  struct Band {
    var name: String
    var from: Double
    var to: Double
  }

  /// A marked position of the first axis, or a limit on the second.
  struct Mark {
    var name: String
    var at: Double
  }

  var title: String
  /// The meaning of the second axis, and further remarks.
  var caption: String
  var across: Axis
  var upwards: Axis
  /// The unit of the first axis.
  var acrossUnit: String
  /// At most four, each with its own colour.
  var lines: [Line]
  var bands: [Band] = []
  var marks: [Mark] = []
  /// Tooltips for ranges of the first axis.
  var columns: [Band] = []

  private static let (width, height) = (420.0, 220.0)
  private static let (left, right, top, bottom) = (44.0, 412.0, 18.0, 192.0)

  func write(to page: inout Markup) {
    page.element("figure") { page in
      page.element("figcaption") { page in
        page.element("h3", title)
        page.element("p", ["class": "quiet"], caption)
        page.element("p", ["class": "legend"]) { page in
          for (index, line) in lines.enumerated() {
            page.element("span", ["class": "c\(index + 1)"]) { page in
              page.element("i", "")
              page.words(line.name)
            }
          }
          if !marks.isEmpty {
            page.element("span", ["class": "m"]) { $0.words("┊ chaos, recovery") }
          }
        }
      }
      page.element(
        "svg",
        [
          "viewBox": "0 0 \(Self.coordinate(Self.width)) \(Self.coordinate(Self.height))",
          "role": "img", "aria-label": title,
        ]
      ) { page in
        write(bands, to: &page)
        writeAxes(to: &page)
        for mark in marks { write(mark, to: &page) }
        for (index, line) in lines.enumerated() { write(line, "c\(index + 1)", to: &page) }
        for column in columns { write(column, to: &page) }
      }
    }
  }

  private func x(_ value: Double) -> Double {
    Self.left + across.place(value) * (Self.right - Self.left)
  }

  private func y(_ value: Double) -> Double {
    Self.bottom - upwards.place(value) * (Self.bottom - Self.top)
  }

  /// Formats a coordinate; a tenth of a unit is less than a pixel.
  private static func coordinate(_ value: Double) -> String {
    Decimal.short((value * 10).rounded() / 10)
  }

  private func write(_ bands: [Band], to page: inout Markup) {
    for (index, band) in bands.enumerated() where x(band.to) > x(band.from) {
      let width = x(band.to) - x(band.from)
      page.empty(
        "rect",
        [
          "class": index.isMultiple(of: 2) ? "band" : "band odd",
          "x": Self.coordinate(x(band.from)), "y": Self.coordinate(Self.top),
          "width": Self.coordinate(width), "height": Self.coordinate(Self.bottom - Self.top),
        ])
      // A character is about six units wide.
      let room = Int(width / 6)
      guard room >= 2 else { continue }
      let name = band.name.count > room ? "\(band.name.prefix(room - 1))…" : band.name
      page.element(
        "text",
        [
          "class": "phase", "x": Self.coordinate(x(band.from) + width / 2), "y": "12",
          "text-anchor": "middle",
        ], name)
    }
  }

  private func writeAxes(to page: inout Markup) {
    for tick in upwards.ticks {
      let place = Self.coordinate(y(tick.value))
      page.empty(
        "line",
        [
          "class": "grid", "x1": Self.coordinate(Self.left), "x2": Self.coordinate(Self.right),
          "y1": place, "y2": place,
        ])
      page.element(
        "text",
        [
          "x": Self.coordinate(Self.left - 5), "y": Self.coordinate(y(tick.value) + 4),
          "text-anchor": "end",
        ], tick.label)
    }
    for (index, tick) in across.ticks.enumerated() {
      let place = Self.coordinate(x(tick.value))
      page.empty(
        "line",
        [
          "class": "grid", "x1": place, "x2": place, "y1": Self.coordinate(Self.bottom),
          "y2": Self.coordinate(Self.bottom + 4),
        ])
      let isLast = index == across.ticks.count - 1
      page.element(
        "text",
        [
          "x": place, "y": Self.coordinate(Self.bottom + 17),
          "text-anchor": isLast && x(tick.value) > Self.right - 20 ? "end" : "middle",
        ], isLast && !acrossUnit.isEmpty ? "\(tick.label) \(acrossUnit)" : tick.label)
    }
  }

  private func write(_ mark: Mark, to page: inout Markup) {
    let place = Self.coordinate(x(mark.at))
    page.element(
      "line",
      [
        "class": "mark", "x1": place, "x2": place, "y1": Self.coordinate(Self.top),
        "y2": Self.coordinate(Self.bottom),
      ]
    ) { $0.element("title", mark.name) }
  }

  private func write(_ line: Line, _ colour: String, to page: inout Markup) {
    for points in line.points.split(whereSeparator: { $0.y == nil }) {
      let places = points.map { "\(Self.coordinate(x($0.x))) \(Self.coordinate(y($0.y ?? 0)))" }
      guard let first = points.first, let last = points.last else { continue }
      if points.count == 1 {
        page.empty(
          "circle",
          [
            "class": "dot \(colour)", "cx": Self.coordinate(x(first.x)),
            "cy": Self.coordinate(y(first.y ?? 0)), "r": "2",
          ])
        continue
      }
      let path = "M" + places.joined(separator: "L")
      if line.isFilled {
        let floor = Self.coordinate(Self.bottom)
        let closed =
          path + "L\(Self.coordinate(x(last.x))) \(floor)L\(Self.coordinate(x(first.x))) \(floor)Z"
        page.empty("path", ["class": "area \(colour)", "d": closed])
      }
      page.empty("path", ["class": "line \(colour)", "d": path])
    }
  }

  private func write(_ column: Band, to page: inout Markup) {
    page.element(
      "rect",
      [
        "class": "column", "x": Self.coordinate(x(column.from)),
        "y": Self.coordinate(Self.top),
        "width": Self.coordinate(max(0.5, x(column.to) - x(column.from))),
        "height": Self.coordinate(Self.bottom - Self.top),
      ]
    ) { $0.element("title", column.name) }
  }
}
